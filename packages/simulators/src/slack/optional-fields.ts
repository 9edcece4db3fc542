/**
 * Fields that Slack's own types (`@slack/types`, the responses of `@slack/web-api`) mark as
 * optional or nullable, and whose absence does not change what a message means.
 */
export const OPTIONAL_FIELDS: ReadonlySet<string> = new Set([
  // Messages.
  ...['team', 'client_msg_id', 'blocks', 'bot_profile', 'app_id', 'parent_user_id', 'edited'],
  ...['reactions', 'upload', 'item_user', 'reply_users', 'reply_users_count', 'latest_reply'],
  // Envelopes.
  ...['context_team_id', 'context_enterprise_id', 'event_context', 'enterprise'],
  // Files.
  ...['title', 'filetype', 'pretty_type', 'user_team', 'permalink', 'username', 'editable'],
  ...[
    'real_name',
    'real_name_normalized',
    'display_name',
    'display_name_normalized',
    'avatar_hash',
  ],
  ...['tz', 'tz_offset', 'status_text', 'status_emoji', 'topic', 'purpose', 'creator', 'unlinked'],
]);
