import { discordPeer } from './channels/discord-peer.ts';
import { everyChannel } from './channels/every-channel.ts';

everyChannel('Discord', discordPeer, ['format-refused']);
