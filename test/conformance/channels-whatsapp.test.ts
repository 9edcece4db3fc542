import { everyChannel } from './channels/every-channel.ts';
import { whatsappPeer } from './channels/whatsapp-peer.ts';

// After a 429 it has to send nothing for a minute; the adapter's own tests cover that.
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
