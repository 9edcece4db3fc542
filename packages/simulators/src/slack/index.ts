export { REAL_LIMITS } from './rate-limits.ts';
export type { SlackDouble, SlackDoubleOptions } from './slack-double.ts';
export { startSlackDouble } from './start-slack-double.ts';
export type { VisibleMessage } from './visible.ts';
