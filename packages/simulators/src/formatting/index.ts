export {
  type FormatRun,
  type FormattedLine,
  type Inline,
  type TextFormat,
  toLineRuns,
} from './marked-lines.ts';
export { parseGoogleChat } from './parse-google-chat.ts';
export { parseSlack } from './parse-slack.ts';
export type { MarkedMessage } from './read-message.ts';
