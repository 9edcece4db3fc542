export {
  createDocumentReader,
  createReaderQueue as openPlaces,
  type ReadDocument,
} from './document-reader.ts';
export type { DocumentText } from './document-text.ts';
export {
  countPixels as pixelsOf,
  detectPictureFormat as pictureFormat,
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
export { requestSpeechOf as speak, type SpeechSettings, type SpokenText } from './speak.ts';
export { type Transcript, type TranscriptionSettings, transcribe } from './transcribe.ts';
