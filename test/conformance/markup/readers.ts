import type { PrintedTarget } from '@parley/markup';
import { parseGoogleChat, parseSlack } from '@parley/simulators/formatting';
import { readStrictHtml } from '../strict-html.ts';
import { readGfm, readTeams } from './read-common-mark.ts';
import { readDiscord } from './read-discord.ts';
import { readMarked } from './read-lines.ts';
import { readTelegram } from './read-telegram.ts';
import { readWhatsApp } from './read-whatsapp.ts';
import type { TextStretch } from './seen.ts';

interface DialectReader {
  /**
   * Throws if the platform would refuse the part, truncate it, or ping people.
   * @param plain the text of the part without formatting.
   */
  readonly read: (text: string, plain: string) => TextStretch[];
  /** The length that counts toward the platform's limit. */
  readonly counted: 'visible' | 'everything';
}

/** The strict parser of each dialect. */
export const READERS: Readonly<Record<PrintedTarget['dialect'], DialectReader>> = {
  telegram: { read: readTelegram, counted: 'visible' },
  discord: { read: readDiscord, counted: 'everything' },
  whatsapp: { read: readWhatsApp, counted: 'everything' },
  slack: { read: (text) => readMarked(text, parseSlack), counted: 'everything' },
  'google-chat': { read: (text) => readMarked(text, parseGoogleChat), counted: 'everything' },
  teams: { read: readTeams, counted: 'everything' },
  gfm: { read: readGfm, counted: 'everything' },
  plain: { read: readPlain, counted: 'everything' },
  html: { read: readStrictHtml, counted: 'everything' },
};

/** All dialects that have a printer. */
export const DIALECTS = Object.keys(READERS) as PrintedTarget['dialect'][];

/** Lengths that a message of each dialect can have. */
export const MAX_LENGTHS: Readonly<Record<PrintedTarget['dialect'], number>> = {
  telegram: 4_096,
  discord: 2_000,
  whatsapp: 4_000,
  slack: 4_000,
  'google-chat': 4_000,
  teams: 4_000,
  gfm: 4_000,
  plain: 4_000,
  html: 100_000,
};

function readPlain(text: string): TextStretch[] {
  return [{ text, formats: undefined }];
}
