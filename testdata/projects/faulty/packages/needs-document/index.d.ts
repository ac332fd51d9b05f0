/** Whether the browser has modal dialogs. */
export declare function supportsDialog(): boolean;
