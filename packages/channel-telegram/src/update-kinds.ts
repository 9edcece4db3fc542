/** The updates Parley asks for; Telegram keeps all others to itself. */
export const UPDATE_KINDS: readonly string[] = [
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'callback_query',
  'my_chat_member',
];
