export type { Group } from './groups.ts';
export { MESSAGE_KINDS } from './message-kinds.ts';
export { type FormattedMessage, parseWhatsApp } from './parse-formatting.ts';
export type { Person } from './people.ts';
export { silenceLibsignal } from './quiet.ts';
export { createSelfSignedCertificate } from './self-signed-certificate.ts';
export { startWhatsAppDouble } from './start-whatsapp-double.ts';
export type { VisibleMessage } from './transcript.ts';
export type { WhatsAppDouble, WhatsAppDoubleOptions } from './whatsapp-double.ts';
