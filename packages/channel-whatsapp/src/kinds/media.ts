import type { proto } from '@whiskeysockets/baileys';
import { type FoundFile, joinLines, type KindContent, shortenToLine } from './reading.ts';

/** The file in a header, which shows at most one file. */
export function findHeaderFile({
  imageMessage,
  videoMessage,
  documentMessage,
}: Pick<proto.IMessage, 'imageMessage' | 'videoMessage' | 'documentMessage'>): FoundFile[] {
  if (imageMessage) return [{ media: 'image', shownAs: 'image', fields: imageMessage }];
  if (videoMessage) return [{ media: 'video', shownAs: 'video', fields: videoMessage }];
  if (documentMessage) return [{ media: 'document', shownAs: 'document', fields: documentMessage }];
  return [];
}

export function readImage(image: proto.Message.IImageMessage): KindContent {
  const files = findHeaderFile({ imageMessage: image });
  return { typed: image.caption, files, isViewOnce: image.viewOnce === true };
}

/** A video, including round videos recorded in the chat. */
export function readVideo(video: proto.Message.IVideoMessage): KindContent {
  const files = findHeaderFile({ videoMessage: video });
  return { typed: video.caption, files, isViewOnce: video.viewOnce === true };
}

export function readDocument(document: proto.Message.IDocumentMessage): KindContent {
  return { typed: document.caption, files: findHeaderFile({ documentMessage: document }) };
}

export function readAudio(audio: proto.Message.IAudioMessage): KindContent {
  const shownAs = audio.ptt === true ? 'voice' : 'audio';
  const files: FoundFile[] = [{ media: 'audio', shownAs, fields: audio }];
  return { files, isViewOnce: audio.viewOnce === true };
}

/** The type of Lottie stickers, because some apps do not set the flag for them. */
const LOTTIE = /^application\/was\b/;

/** A Lottie sticker is a drawing in JSON, which models cannot view. */
export function readSticker(sticker: proto.Message.IStickerMessage): KindContent {
  const label = shortenToLine(sticker.accessibilityLabel);
  const shown = label === '' ? '' : `[Sticker: ${label}]`;
  const isLottie = sticker.isLottie === true || LOTTIE.test(sticker.mimetype ?? '');
  if (isLottie) return { shown, unread: 'an animated sticker' };
  return { files: [{ media: 'sticker', shownAs: 'sticker', fields: sticker }] };
}

/** A sticker pack; only the apps can open its archive. */
export function readStickerPack(pack: proto.Message.IStickerPackMessage): KindContent {
  const name = [shortenToLine(pack.name), shortenToLine(pack.publisher)].filter(
    (part) => part !== '',
  );
  const title = name.length === 0 ? '' : `[Sticker pack: ${name.join(', by ')}]`;
  return {
    shown: joinLines(title, pack.packDescription, pack.caption),
    unread: 'a sticker pack',
  };
}

/**
 * Text with a link preview. The preview is taken from the page, and the sender's app may write
 * anything into it.
 */
export function readText(text: proto.Message.IExtendedTextMessage): KindContent {
  const { matchedText, title, description } = text;
  const preview = joinLines(title, description);
  const from = shortenToLine(`the preview of ${matchedText || 'a link'}`);
  return {
    typed: text.text || matchedText,
    ...(preview !== '' && { beside: { from, text: preview } }),
    isViewOnce: text.viewOnce === true,
  };
}

/** The header of an album; its files follow as separate messages. */
export function describeAlbum(album: proto.Message.IAlbumMessage): string {
  const counts = [
    formatCount(album.expectedImageCount ?? 0, 'picture'),
    formatCount(album.expectedVideoCount ?? 0, 'video'),
  ];
  const text = counts.filter((count) => count !== '').join(' and ');
  return text === '' ? 'an album' : `an album of ${text}`;
}

function formatCount(count: number, noun: string): string {
  if (count <= 0) return '';
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
