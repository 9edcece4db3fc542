export { audioTypeOf, type ImageType, imageTypeOf, pixelsOf } from './detect-format.ts';
export {
  createDocumentReader,
  type DocumentReaderOptions,
  type DocumentRequest,
  type ReadDocument,
} from './document-reader.ts';
export type { DocumentText } from './document-text.ts';
export {
  type Transcript,
  type TranscriptionDeps,
  type TranscriptionSettings,
  transcribe,
} from './transcribe.ts';
