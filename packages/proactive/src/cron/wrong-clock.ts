/** How far clocks may differ before one of them is called wrong. In ms. */
export const WRONG_CLOCK_MS = 5 * 60_000;
