/** Never callable: the package does not bundle. */
export declare function present(): unknown;
