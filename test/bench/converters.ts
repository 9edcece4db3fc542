import type { Dialect } from '@parley/core';

// Loads nothing by itself: the process that measures a first call must not know any library yet.

/** What turns Markdown into what Telegram takes: Parley, and two libraries that people use now. */
export const CONVERTERS = ['parley', 'telegramify-markdown', '@chat-adapter/telegram'] as const;
export type ConverterName = (typeof CONVERTERS)[number];

/** Markdown in, the texts of one or more messages out. */
export type Convert = (markdown: string) => string[];

/** Longest text of one Telegram message, after parsing. */
export const TELEGRAM_LIMIT = 4096;

const LOADERS: Readonly<Record<ConverterName, () => Promise<Convert>>> = {
  parley: () => loadParley('telegram', TELEGRAM_LIMIT),
  'telegramify-markdown': async () => {
    const { default: telegramify } = await import('telegramify-markdown');
    // Of its three ways with tables, quotes and HTML this is the one that loses nothing and escapes.
    return (markdown) => [telegramify(markdown, 'escape')];
  },
  '@chat-adapter/telegram': async () => {
    const { TelegramFormatConverter } = await import('@chat-adapter/telegram');
    const converter = new TelegramFormatConverter();
    return (markdown) => [converter.renderPostable({ markdown })];
  },
};

/** Loads a library the way its users do; nothing of it is loaded before. */
export function loadConverter(name: ConverterName): Promise<Convert> {
  return LOADERS[name]();
}

/** Parley for one of its dialects. */
export async function loadParley(dialect: Dialect, maxLength: number): Promise<Convert> {
  const { render } = await import('@parley/markup');
  return (markdown) =>
    render(markdown, { dialect, maxLength, unit: 'utf16' }).map(({ text }) => text);
}

/** Takes the next piece of an answer that is being written, and makes what is to be shown now. */
export type ShowNext = (piece: string) => Promise<void> | void;

/** For an answer that grows: the libraries know whole texts only, so they convert all of it again. */
export async function loadGrowing(name: ConverterName): Promise<ShowNext> {
  if (name === 'parley') {
    const { createPrefixRenderer } = await import('@parley/markup');
    const target = { dialect: 'telegram', maxLength: TELEGRAM_LIMIT, unit: 'utf16' } as const;
    const renderer = createPrefixRenderer(target);
    return async (piece) => {
      renderer.push(piece);
      await renderer.show();
    };
  }
  const convert = await loadConverter(name);
  let text = '';
  return (piece) => {
    text += piece;
    convert(text);
  };
}
