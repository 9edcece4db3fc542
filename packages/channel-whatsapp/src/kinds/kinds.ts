import type { proto } from '@whiskeysockets/baileys';
import { readQuestionAnswer, readQuotedStatus, readRichResponse, readSecret } from './answers.ts';
import {
  readButtonChoice,
  readButtons,
  readInteractive,
  readInteractiveChoice,
  readListChoice,
  readListMessage,
  readOrder,
  readProduct,
  readStructured,
  readTemplate,
  readTemplateChoice,
} from './business.ts';
import { readContact, readContacts } from './contacts.ts';
import { readCallLog, readEvent, readPoll, readPollResult, readScheduledCall } from './events.ts';
import { readAdminInvitation, readFollowerInvitation, readGroupInvitation } from './invitations.ts';
import {
  readAudio,
  readDocument,
  readImage,
  readSticker,
  readStickerPack,
  readText,
  readVideo,
} from './media.ts';
import { readInvoice, readPayment, readPaymentRequest } from './payments.ts';
import { readLiveLocation, readLocation } from './places.ts';
import { type Kind, namedOnly, type WrapperMarks } from './reading.ts';

type Field = keyof Required<proto.IMessage>;
type Value<Name extends Field> = NonNullable<proto.IMessage[Name]>;
export type Kinds = { readonly [Name in Field]: Kind<Value<Name>> };

/**
 * Every field that a WhatsApp message may have. A field added by a new version of Baileys does not
 * compile until it is listed here.
 */
export const KINDS: Kinds = {
  // Fields with text and files.
  conversation: { is: 'read', read: (typed) => ({ typed }) },
  extendedTextMessage: { is: 'read', read: readText },
  imageMessage: { is: 'read', read: readImage },
  videoMessage: { is: 'read', read: readVideo },
  ptvMessage: { is: 'read', read: readVideo },
  audioMessage: { is: 'read', read: readAudio },
  documentMessage: { is: 'read', read: readDocument },
  stickerMessage: { is: 'read', read: readSticker },
  stickerPackMessage: { is: 'named', read: readStickerPack },

  // Fields for places, contacts, events, polls and calls.
  locationMessage: { is: 'read', read: readLocation },
  liveLocationMessage: { is: 'read', read: readLiveLocation },
  contactMessage: { is: 'read', read: readContact },
  contactsArrayMessage: { is: 'read', read: readContacts },
  eventMessage: { is: 'read', read: readEvent },
  encEventResponseMessage: namedOnly('an answer to an event'),
  pollCreationMessage: { is: 'read', read: readPoll },
  pollCreationMessageV2: { is: 'read', read: readPoll },
  pollCreationMessageV3: { is: 'read', read: readPoll },
  pollCreationMessageV4: wrapper('a poll'),
  pollCreationMessageV5: { is: 'read', read: readPoll },
  pollResultSnapshotMessage: { is: 'read', read: readPollResult },
  pollResultSnapshotMessageV3: { is: 'read', read: readPollResult },
  pollUpdateMessage: namedOnly('a vote in a poll'),
  scheduledCallCreationMessage: { is: 'read', read: readScheduledCall },
  scheduledCallEditMessage: namedOnly('a change of a planned call'),
  callLogMesssage: { is: 'read', read: readCallLog },
  call: namedOnly('a call'),
  bcallMessage: {
    is: 'named',
    read: ({ caption }) => ({ shown: caption, unread: 'a call to many people' }),
  },

  // Fields for invitations and requests.
  groupInviteMessage: { is: 'read', read: readGroupInvitation },
  newsletterAdminInviteMessage: { is: 'read', read: readAdminInvitation },
  newsletterFollowerInviteMessageV2: { is: 'read', read: readFollowerInvitation },
  requestPhoneNumberMessage: namedOnly('a request for the phone number of this account'),

  // Fields for messages of businesses.
  buttonsMessage: { is: 'read', read: readButtons },
  listMessage: { is: 'read', read: readListMessage },
  interactiveMessage: { is: 'read', read: readInteractive },
  templateMessage: { is: 'read', read: readTemplate },
  highlyStructuredMessage: { is: 'named', read: readStructured },
  productMessage: { is: 'read', read: readProduct },
  orderMessage: { is: 'named', read: readOrder },
  buttonsResponseMessage: { is: 'read', read: readButtonChoice },
  listResponseMessage: { is: 'read', read: readListChoice },
  templateButtonReplyMessage: { is: 'read', read: readTemplateChoice },
  interactiveResponseMessage: { is: 'read', read: readInteractiveChoice },
  sendPaymentMessage: { is: 'named', read: readPayment },
  requestPaymentMessage: { is: 'named', read: readPaymentRequest },
  declinePaymentRequestMessage: namedOnly('a refusal of a request for a payment'),
  cancelPaymentRequestMessage: namedOnly('the withdrawal of a request for a payment'),
  paymentInviteMessage: namedOnly('an invitation to payments'),
  invoiceMessage: { is: 'named', read: readInvoice },

  // Fields for comments, questions, statuses and assistants.
  commentMessage: wrapper('a comment'),
  encCommentMessage: namedOnly('a comment'),
  secretEncryptedMessage: { is: 'named', read: readSecret },
  richResponseMessage: { is: 'read', read: readRichResponse },
  statusQuestionAnswerMessage: { is: 'read', read: readQuestionAnswer },
  questionResponseMessage: { is: 'read', read: readQuestionAnswer },
  statusQuotedMessage: { is: 'read', read: readQuotedStatus },
  statusStickerInteractionMessage: namedOnly('a sticker on a status'),
  statusMentionMessage: namedOnly('a status that mentions this account'),
  groupStatusMentionMessage: namedOnly('a status that mentions this group'),
  placeholderMessage: namedOnly('a message that WhatsApp shows on the phone alone'),

  // Fields that wrap another message.
  ephemeralMessage: wrapper('a disappearing message'),
  viewOnceMessage: wrapper('a view-once message', { isViewOnce: true }),
  viewOnceMessageV2: wrapper('a view-once message', { isViewOnce: true }),
  viewOnceMessageV2Extension: wrapper('a view-once message', { isViewOnce: true }),
  documentWithCaptionMessage: wrapper('a document'),
  editedMessage: wrapper('a changed message'),
  groupMentionedMessage: wrapper('a message that mentions a group'),
  botInvokeMessage: wrapper('a message to an assistant'),
  botTaskMessage: wrapper('a task of an assistant'),
  botForwardedMessage: wrapper('a message of an assistant', { origin: 'an assistant' }),
  lottieStickerMessage: wrapper('an animated sticker', { isUnreadable: true }),
  eventCoverImage: wrapper('the picture of an event'),
  pollCreationOptionImageMessage: wrapper('the picture of an answer in a poll'),
  associatedChildMessage: wrapper('a message that belongs to another'),
  statusAddYours: wrapper('a status to join in'),
  groupStatusMessage: wrapper('a status of the group'),
  groupStatusMessageV2: wrapper('a status of the group'),
  questionMessage: wrapper('a question to a channel'),
  questionReplyMessage: wrapper('a reply to a question'),

  // Fields for changes to other messages, and for reactions.
  protocolMessage: { is: 'change' },
  reactionMessage: { is: 'change' },

  // Bookkeeping
  encReactionMessage: ignored('an encrypted reaction; reactions start no turn'),
  keepInChatMessage: ignored('a message was kept in a disappearing chat, or released again'),
  pinInChatMessage: ignored('a message was pinned or unpinned'),
  limitSharingMessage: ignored('sharing from the chat was limited or allowed'),
  albumMessage: ignored('the start of an album; its files follow as separate messages'),
  chat: ignored('an entry of the list of chats'),
  stickerSyncRmrMessage: ignored('stickers were synchronized between devices'),
  messageHistoryBundle: ignored('earlier messages were shared with a new member of the group'),
  messageHistoryNotice: ignored('earlier messages were shared with a new member of the group'),
  statusNotificationMessage: ignored('a status was shared or answered'),
  deviceSentMessage: ignored('a copy of a message that somebody wrote on another of their devices'),
  senderKeyDistributionMessage: silent('keys of a group, sent along with a message'),
  fastRatchetKeySenderKeyDistributionMessage: silent('keys of a group, sent along with a message'),
  messageContextInfo: silent('metadata of the message'),
};

function wrapper<Marks extends WrapperMarks>(holds: string, marks?: Marks) {
  return { is: 'wrapper', holds, ...marks } as const;
}

function ignored(reason: string) {
  return { is: 'ignored', reason } as const;
}

function silent(reason: string) {
  return { is: 'silent', reason } as const;
}

/**
 * How a message that changes a setting or comes from the platform is handled, by the name of its
 * type.
 */
export type ProtocolKind =
  | { readonly is: 'read' }
  | { readonly is: 'named'; readonly what: string }
  | { readonly is: 'ignored'; readonly reason: string };

export type ProtocolType = keyof typeof proto.Message.ProtocolMessage.Type;

const OWN_DEVICES = ignored('the devices of an account synchronize');
const ASSISTANTS = ignored('a setting of the WhatsApp assistants');

/** `read` means an edit, a deletion, or the timer of the chat. */
export const PROTOCOL_KINDS: Readonly<Record<ProtocolType, ProtocolKind>> = {
  REVOKE: { is: 'read' },
  MESSAGE_EDIT: { is: 'read' },
  EPHEMERAL_SETTING: { is: 'read' },
  STATUS_MENTION_MESSAGE: { is: 'named', what: 'a status that mentions this account' },
  REMINDER_MESSAGE: ignored('a reminder that WhatsApp itself wrote'),
  SHARE_PHONE_NUMBER: ignored('they shared their phone number, which their messages contain'),
  LIMIT_SHARING: ignored('sharing from the chat was limited or allowed'),
  GROUP_MEMBER_LABEL_CHANGE: ignored('the label of a member of the group was changed'),
  CLOUD_API_THREAD_CONTROL_NOTIFICATION: ignored(
    'a business passed the chat on to another program',
  ),
  MEDIA_NOTIFY_MESSAGE: ignored('a file was uploaded; its message arrives separately'),
  EPHEMERAL_SYNC_RESPONSE: OWN_DEVICES,
  HISTORY_SYNC_NOTIFICATION: OWN_DEVICES,
  APP_STATE_SYNC_KEY_SHARE: OWN_DEVICES,
  APP_STATE_SYNC_KEY_REQUEST: OWN_DEVICES,
  MSG_FANOUT_BACKFILL_REQUEST: OWN_DEVICES,
  INITIAL_SECURITY_NOTIFICATION_SETTING_SYNC: OWN_DEVICES,
  APP_STATE_FATAL_EXCEPTION_NOTIFICATION: OWN_DEVICES,
  PEER_DATA_OPERATION_REQUEST_MESSAGE: OWN_DEVICES,
  PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE: OWN_DEVICES,
  LID_MIGRATION_MAPPING_SYNC: OWN_DEVICES,
  REQUEST_WELCOME_MESSAGE: ASSISTANTS,
  BOT_FEEDBACK_MESSAGE: ASSISTANTS,
  BOT_MEMU_ONBOARDING_MESSAGE: ASSISTANTS,
  STOP_GENERATION_MESSAGE: ASSISTANTS,
  AI_PSI_METADATA: ASSISTANTS,
  AI_QUERY_FANOUT: ASSISTANTS,
};
