import type { Dialect } from '@parley/core';

// Does not import a library at load time: the process that measures a first call must not have
// loaded one yet.

/** Converters from Markdown to Telegram's formatting: Parley, and two common libraries. */
export const CONVERTERS = ['parley', 'telegramify-markdown', '@chat-adapter/telegram'] as const;
export type ConverterName = (typeof CONVERTERS)[number];

/** Converts Markdown to the text of one or more messages. */
export type Convert = (markdown: string) => string[];

/** The maximum length of one Telegram message, after parsing. */
export const TELEGRAM_LIMIT = 4096;

const LOADERS: Readonly<Record<ConverterName, () => Promise<Convert>>> = {
  parley: () => loadParley('telegram', TELEGRAM_LIMIT),
  'telegramify-markdown': async () => {
    const { default: telegramify } = await import('telegramify-markdown');
    // Of the library's three modes for tables, quotes and HTML, only this mode escapes them without
    // losing content.
    return (markdown) => [telegramify(markdown, 'escape')];
  },
  '@chat-adapter/telegram': async () => {
    const { TelegramFormatConverter } = await import('@chat-adapter/telegram');
    const converter = new TelegramFormatConverter();
    return (markdown) => [converter.renderPostable({ markdown })];
  },
};

/** Loads a library the way its users do; nothing is loaded before. */
export function loadConverter(name: ConverterName): Promise<Convert> {
  return LOADERS[name]();
}

/** The Parley converter for one dialect. */
export async function loadParley(dialect: Dialect, maxLength: number): Promise<Convert> {
  const { render } = await import('@parley/markup');
  return (markdown) =>
    render(markdown, { dialect, maxLength, unit: 'utf16' }).map(({ text }) => text);
}

/** Adds the next piece to a growing answer and renders the text to show now. */
export type ShowNext = (piece: string) => Promise<void> | void;

/**
 * The libraries only handle complete text, so they convert a growing answer from its beginning each
 * time.
 */
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
