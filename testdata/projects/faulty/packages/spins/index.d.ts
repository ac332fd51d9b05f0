/** How often it spun. */
export declare function spun(): number;
