import { everyChannel } from './channels/every-channel.ts';
import { telegramPeer } from './channels/telegram-peer.ts';

everyChannel('Telegram', telegramPeer, ['forms', 'deletes', 'out-of-order']);
