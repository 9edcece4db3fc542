import type { Dialect, RenderTarget } from '@parley/contracts';
import type { Leaf } from './document.ts';
import { printDiscord } from './print/discord.ts';
import { printHtml } from './print/html.ts';
import { printPlain } from './print/plain.ts';
import type { Printed } from './print/printed.ts';
import { printTelegram } from './print/telegram.ts';
import { printWhatsApp } from './print/whatsapp.ts';

/** Prints leaves as one part. Never refuses and never shortens. */
export type Print = (leaves: readonly Leaf[], mentions?: RenderTarget['mentions']) => Printed;

/** One printer per dialect, beside its row in the capability table. */
export const PRINTERS: Readonly<Record<Dialect, Print>> = {
  telegram: printTelegram,
  discord: printDiscord,
  whatsapp: printWhatsApp,
  plain: printPlain,
  html: printHtml,
};
