import { z } from 'zod';
import { isLoopback } from './media-address.ts';

/** One WhatsApp account, as written below `channels.whatsapp`. */
export const WhatsAppSettings = z.strictObject({
  url: z
    .url({ protocol: /^wss?$/, error: 'must be a wss address' })
    .refine(isSafe, 'must begin with wss://; ws:// is for 127.0.0.1 only')
    .default('wss://web.whatsapp.com/ws/chat')
    .describe("WhatsApp's server; only for tests."),
  browser: z
    .string('must be a name')
    .min(1, 'must not be empty')
    .max(40, 'must have at most 40 characters')
    .default('Parley')
    .describe('The name that the phone shows under "Linked devices".'),
  pace: z
    .boolean()
    .default(true)
    .describe('Write no faster than a person would; false only for a server that blocks nobody.'),
  version: z
    .string('must look like 2.3000.1027934701')
    .regex(/^\d+\.\d+\.\d+$/, 'must look like 2.3000.1027934701')
    .optional()
    .describe('Version of WhatsApp Web to speak, where the built-in one is refused with 405.'),
});
export type WhatsAppSettings = z.infer<typeof WhatsAppSettings>;

/** TLS is the only proof of who the server is: Baileys takes any certificate inside. */
function isSafe(address: string): boolean {
  if (!URL.canParse(address)) return true;
  return new URL(address).protocol !== 'ws:' || isLoopback(address);
}
