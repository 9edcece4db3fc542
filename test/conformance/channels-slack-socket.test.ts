import { everyChannel } from './channels/every-channel.ts';
import { SLACK_LACKS, startSlackPeer } from './channels/slack-peer.ts';

everyChannel('Slack in Socket Mode', () => startSlackPeer('socket'), SLACK_LACKS);
