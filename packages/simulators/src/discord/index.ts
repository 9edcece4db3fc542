export { OPTIONAL } from '../optional-fields.ts';
export { listButtons } from './components.ts';
export type { DiscordDouble, DiscordDoubleOptions } from './discord-double.ts';
export type { GatewayFault, RestFault } from './faults.ts';
export type { DiscordNode } from './markdown.ts';
export { parseDiscordMarkdown, type RunFormat } from './parse-markdown.ts';
export { REAL_LIMITS, WIDE_LIMITS } from './rate-limits.ts';
export { startDiscordDouble } from './start-discord-double.ts';
export type { ViolationKind } from './violations.ts';
