import { everyChannel } from './channels/every-channel.ts';
import { slackPeer } from './channels/slack-peer.ts';

everyChannel('Slack', slackPeer('webhook'), ['forms', 'administrators', 'format-refused']);
