import type { Capabilities } from '@parley/core';
import { z } from 'zod';

/** The settings for one WhatsApp account, under `channels.whatsapp`. */
export const WhatsAppSettings = z
  .strictObject({
    url: z
      .url({ protocol: /^wss?$/, error: 'an address that begins with wss://' })
      .refine(isSafeServerUrl, 'an address that begins with wss://; ws:// is only for 127.0.0.1')
      .default('wss://web.whatsapp.com/ws/chat')
      .describe("The address of WhatsApp's server. Change it only for tests.")
      .meta({ title: 'WhatsApp server' }),
    phone: z
      .union([z.string(), z.int()])
      .transform((number) =>
        String(number)
          .replace(/[\s()./+-]/g, '')
          .replace(/^00/, ''),
      )
      .pipe(z.string().regex(/^[1-9]\d{6,14}$/, 'a number such as +49 1512 3456789'))
      .optional()
      .describe(
        'The account\'s phone number with its country code, for linking by typing a code on the phone instead of scanning a QR code. The phone then lists Parley as "Windows", regardless of "browser", because WhatsApp does not accept another name.',
      )
      .meta({ title: 'Phone number for linking' }),
    browser: z
      .string('a name')
      .min(1, 'a name that is not empty')
      .max(40, 'a name of at most 40 characters')
      .default('Parley')
      .describe('The name that the phone shows under "Linked devices".')
      .meta({ title: 'Name under linked devices' }),
    readReceipts: z
      .boolean()
      .default(true)
      .describe(
        'Whether messages that the agent answers are marked as read (blue ticks). Messages from people who may not talk to the agent are never marked.',
      )
      .meta({ title: 'Send read receipts' }),
    pace: z
      .boolean()
      .default(true)
      .describe(
        'Whether to write no faster than a person would. Turn this off only for a server that does not block anyone.',
      )
      .meta({ title: 'Write at a human pace' }),
    version: z
      .string('a version such as 2.3000.1027934701')
      .regex(/^\d+\.\d+\.\d+$/, 'a version such as 2.3000.1027934701')
      .optional()
      .describe('The WhatsApp Web version to use if the built-in one is refused with code 405.')
      .meta({ title: 'WhatsApp Web version' }),
  })
  .describe('A device linked to a WhatsApp account, in chats and groups.')
  .meta({ title: 'WhatsApp' });
export type WhatsAppSettings = z.infer<typeof WhatsAppSettings>;

/**
 * Only TLS authenticates the server, because Baileys accepts any certificate inside the connection.
 */
function isSafeServerUrl(address: string): boolean {
  if (!URL.canParse(address)) return true;
  return new URL(address).protocol !== 'ws:' || isLoopbackUrl(address);
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Whether the host of a URL is this machine. */
export function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && LOOPBACK.has(new URL(url).hostname);
}

/** The capabilities of a WhatsApp account, which are known without loading the library. */
export const CAPABILITIES: Capabilities = {
  // WhatsApp's clients allow 65,536 characters, but text longer than this is hard to read in one
  // bubble.
  target: { dialect: 'whatsapp', maxLength: 4_000, unit: 'utf16' },
  idempotentSend: true,
  typing: true,
  edit: true,
  delete: true,
  react: true,
  threads: false,
  quotes: true,
  buttons: false,
  // WhatsApp counts each edit as a message, and blocks numbers that send many messages.
  streaming: 'none',
  media: ['image', 'audio', 'voice', 'video', 'document'],
  // Phones refuse larger pictures and videos; documents can have up to 2 GB.
  maxFileBytes: 64 * 1024 * 1024,
};

/**
 * Three messages a second have led to 429 errors and blocked numbers, because people do not write
 * that fast.
 */
export const RATES: Capabilities['rates'] = {
  account: { burst: 5, everyMs: 1_000 },
  direct: { burst: 3, everyMs: 2_000 },
  group: { burst: 3, everyMs: 2_000 },
};
