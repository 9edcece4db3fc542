export { lineRuns } from './format-runs.ts';
export type { Group } from './groups.ts';
export { hushLibsignal } from './hush-libsignal.ts';
export { selfSignedCertificate } from './media/self-signed-certificate.ts';
export { MESSAGE_KINDS } from './message-kinds.ts';
export {
  type Format,
  type Formatted,
  type FormattedLine,
  type Inline,
  parseWhatsApp,
} from './parse-formatting.ts';
export type { Person } from './people.ts';
export type { VisibleMessage } from './transcript.ts';
export {
  startWhatsAppDouble,
  type WhatsAppDouble,
  type WhatsAppDoubleOptions,
} from './whatsapp-double.ts';
