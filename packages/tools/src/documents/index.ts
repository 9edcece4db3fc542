export { createDocumentReader, openPlaces, type ReadDocument } from './document-reader.ts';
export type { DocumentText } from './document-text.ts';
export { type ImageType, type PictureFormat, pictureFormat, pixelsOf } from './picture-format.ts';
export {
  createPictureScaler,
  isWorthScaling,
  type ScaledPicture,
  type ScalePicture,
} from './picture-scaler.ts';
export { isVideo } from './sound-format.ts';
export { type SpeechSettings, type SpokenText, speak } from './speak.ts';
export { type Transcript, type TranscriptionSettings, transcribe } from './transcribe.ts';
