export { OPTIONAL } from '../optional-fields.ts';
export {
  type DiscordDouble,
  type DiscordDoubleOptions,
  startDiscordDouble,
} from './discord-double.ts';
export type { GatewayFault, RestFault } from './faults.ts';
export {
  type DiscordNode,
  parseDiscordMarkdown,
  type RunFormat,
  type ViolationKind,
} from './parse-markdown.ts';
export { REAL_LIMITS, WIDE_LIMITS } from './rate-limits.ts';
export { buttonsOf } from './typed-line.ts';
