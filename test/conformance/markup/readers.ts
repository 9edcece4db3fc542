import type { PrintedTarget } from '@parley/markup';
import { readStrictHtml } from '../strict-html.ts';
import { readDiscord } from './read-discord.ts';
import { readTelegram } from './read-telegram.ts';
import { readWhatsApp } from './read-whatsapp.ts';
import type { Stretch } from './seen.ts';

interface DialectReader {
  /**
   * Throws if the platform would refuse it, show less of it, or ping people.
   * @param plain the text of the part without formats.
   */
  readonly read: (text: string, plain: string) => Stretch[];
  /** What counts toward the platform's limit. */
  readonly counted: 'visible' | 'everything';
}

/** The strict parser of each dialect. */
export const READERS: Readonly<Record<PrintedTarget['dialect'], DialectReader>> = {
  telegram: { read: readTelegram, counted: 'visible' },
  discord: { read: readDiscord, counted: 'everything' },
  whatsapp: { read: readWhatsApp, counted: 'everything' },
  plain: { read: readPlain, counted: 'everything' },
  html: { read: readStrictHtml, counted: 'everything' },
};

function readPlain(text: string): Stretch[] {
  return [{ text, formats: undefined }];
}
