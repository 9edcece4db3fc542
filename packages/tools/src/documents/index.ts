export { imageTypeOf, pixelsOf } from './detect-format.ts';
export { createDocumentReader, type ReadDocument } from './document-reader.ts';
export type { DocumentText } from './document-text.ts';
export { type Transcript, type TranscriptionSettings, transcribe } from './transcribe.ts';
