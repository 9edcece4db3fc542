export * from './agents.ts';
export * from './aging.ts';
export * from './authored.ts';
export * from './cache.ts';
export * from './channel.ts';
export * from './channel-ids.ts';
export * from './concurrency.ts';
export * from './context-block.ts';
export * from './context-text.ts';
export * from './defects.ts';
export type { DecodedText } from './encoding/decode-bytes.ts';
export { decodeText, describeEncodingWarning } from './encoding/decode-text.ts';
export * from './errors.ts';
export * from './inbound-message.ts';
export {
  type CheckedJson,
  ResponseFormat,
  ResponseFormatError,
} from './json-schema/answer-check.ts';
export { CheckError, type CheckRunner, createCheckRunner } from './json-schema/check-runner.ts';
export { findPatternRisk } from './json-schema/pattern-risk.ts';
export { measureSchema, type SchemaSize } from './json-schema/schema-risk.ts';
export { detectLanguageName } from './language.ts';
export * from './literal.ts';
export * from './operation.ts';
export * from './phone-number.ts';
export * from './proactive.ts';
export * from './prompt.ts';
export * from './runtime.ts';
export * from './text.ts';
export * from './time.ts';
export type * from './timeline.ts';
export * from './visible-text.ts';
export * from './work-record.ts';
export { parseYesOrNo, splitReplyWords } from './yes-or-no.ts';
