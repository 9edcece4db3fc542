export type { Fault } from './faults.ts';
export { type FloodLimits, REAL_LIMITS } from './flood.ts';
export { type HtmlEntity, parseTelegramHtml, TelegramHtmlError } from './parse-html.ts';
export type { Saying } from './people.ts';
export {
  startTelegramDouble,
  type TelegramDouble,
  type TelegramDoubleOptions,
} from './telegram-double.ts';
export type { RecordedCall, VisibleMessage } from './transcript.ts';
