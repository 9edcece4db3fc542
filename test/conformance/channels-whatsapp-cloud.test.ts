import { everyChannel } from './channels/every-channel.ts';
import { whatsappCloudPeer } from './channels/whatsapp-cloud-peer.ts';

everyChannel('WhatsApp Cloud', whatsappCloudPeer, [
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
