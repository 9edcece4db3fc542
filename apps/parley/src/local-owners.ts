/** Whoever holds the token of the web page or the terminal is the owner of this installation. */
export const LOCAL_OWNERS: readonly string[] = ['web:owner', 'terminal:owner'];
