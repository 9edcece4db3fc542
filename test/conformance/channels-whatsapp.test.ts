import { everyChannel } from './channels/every-channel.ts';
import { whatsappPeer } from './channels/whatsapp-peer.ts';

// After a 429 it has to be silent for a minute: tested with the adapter.
everyChannel('WhatsApp', whatsappPeer, [
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
