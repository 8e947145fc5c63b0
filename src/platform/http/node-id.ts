/** How nodes are named, wherever a request names one. */
export const NODE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
export const NODE_ID_RULE = 'must be 1 to 100 of A-Z, a-z, 0-9, ".", "_" and "-", and begin with a letter or digit';

/** What a process of a node may call itself. */
export const INSTANCE = /^[\x20-\x7e]{0,200}$/;
export const INSTANCE_RULE = 'must be at most 200 printable ASCII characters';
