import { everyChannel } from './channels/every-channel.ts';
import { startWhatsAppCloudPeer } from './channels/whatsapp-cloud-peer.ts';

everyChannel('WhatsApp Cloud', startWhatsAppCloudPeer, [
  ...([
    'groups',
    'threads',
    'albums',
    'edits',
    'deletes',
    'bot-edits',
    'documents',
    'bots',
  ] as const),
  ...(['quotes', 'forms', 'administrators', 'pings', 'format-refused'] as const),
]);
