import { startDiscordPeer } from './channels/discord-peer.ts';
import { everyChannel } from './channels/every-channel.ts';

everyChannel('Discord', startDiscordPeer, ['format-refused']);
