export { audioTypeOf, type ImageType, imageTypeOf } from './detect-format.ts';
export {
  createDocumentReader,
  type DocumentReaderOptions,
  type ReadDocument,
} from './document-reader.ts';
export type { DocumentLimits, DocumentText } from './document-text.ts';
export {
  type Transcript,
  type TranscriptionDeps,
  type TranscriptionSettings,
  transcribe,
} from './transcribe.ts';
