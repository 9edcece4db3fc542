export {
  createDocumentReader,
  createReaderQueue,
  type ReadDocument,
} from './document-reader.ts';
export type { DocumentText } from './document-text.ts';
export {
  countPixels,
  detectPictureFormat,
  type ImageType,
  type PictureFormat,
} from './picture-format.ts';
export {
  createPictureScaler,
  isWorthScaling,
  type ScaledPicture,
  type ScalePicture,
} from './picture-scaler.ts';
export { isVideo } from './sound-format.ts';
export { type SpeechResult, type SpeechSettings, synthesizeSpeech } from './speak.ts';
export { type Transcript, type TranscriptionSettings, transcribe } from './transcribe.ts';
