import { everyChannel } from './channels/every-channel.ts';
import { startWhatsAppPeer } from './channels/whatsapp-peer.ts';

// After a 429 the adapter must send nothing for a minute, which its own tests cover.
everyChannel('WhatsApp', startWhatsAppPeer, [
  ...([
    'threads',
    'albums',
    'documents',
    'bots',
    'buttons',
    'forms',
    'pings',
    'out-of-order',
  ] as const),
  ...(['rate-limited', 'format-refused'] as const),
]);
