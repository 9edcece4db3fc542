import type { proto } from '@whiskeysockets/baileys';
import {
  heading,
  joinLines,
  labelledLine,
  type Reading,
  toSafeInteger,
  utcMinute,
} from './reading.ts';

/**
 * The format of an invitation code in the apps. Any other text could become a link chosen by its
 * sender.
 */
const CODE = /^[\w-]{8,64}$/;

export function readGroupInvitation(invitation: proto.Message.IGroupInviteMessage): Reading {
  const { groupName, inviteCode, inviteExpiration, caption } = invitation;
  const link = CODE.test(inviteCode ?? '') ? `https://chat.whatsapp.com/${inviteCode}` : '';
  return {
    shown: joinLines(
      heading('Invitation to a group', groupName),
      labelledLine('Link', link),
      labelledLine('Valid until', utcMinute(inviteExpiration)),
      caption,
    ),
  };
}

type ChannelInvitation = proto.Message.INewsletterFollowerInviteMessage &
  Pick<proto.Message.INewsletterAdminInviteMessage, 'inviteExpiration'>;

export function readAdminInvitation(invitation: ChannelInvitation): Reading {
  return channelInvitation('Invitation to manage a channel', invitation);
}

export function readFollowerInvitation(invitation: ChannelInvitation): Reading {
  return channelInvitation('Invitation to follow a channel', invitation);
}

function channelInvitation(label: string, invitation: ChannelInvitation): Reading {
  const { newsletterName, caption, inviteExpiration } = invitation;
  const until = labelledLine('Valid until', utcMinute(toSafeInteger(inviteExpiration)));
  return { shown: joinLines(heading(label, newsletterName), until, caption) };
}
