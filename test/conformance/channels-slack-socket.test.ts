import { everyChannel } from './channels/every-channel.ts';
import { slackPeer } from './channels/slack-peer.ts';

everyChannel('Slack by socket', slackPeer('socket'), ['forms', 'administrators', 'format-refused']);
