export { Changes } from '../changes.ts';
export { OPTIONAL } from '../optional-fields.ts';
export { FloodControl, REAL_LIMITS } from './faults.ts';
export { OPTIONAL_FIELDS, withSample } from './optional-fields.ts';
export { type HtmlEntity, parseTelegramHtml } from './parse-html.ts';
export type { Saying } from './people.ts';
export { Refusal } from './request.ts';
export {
  startTelegramDouble,
  type TelegramDouble,
  type TelegramDoubleOptions,
} from './telegram-double.ts';
export type { VisibleMessage } from './transcript.ts';
