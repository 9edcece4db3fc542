import { everyChannel } from './channels/every-channel.ts';
import { startTelegramPeer } from './channels/telegram-peer.ts';

everyChannel('Telegram', startTelegramPeer, ['forms', 'deletes', 'out-of-order']);
