import { describe, expect, it } from 'vitest';
import { restoreSecrets } from './edit-settings.ts';

const hide = (text: string) => text.replaceAll(/s3cret-\w+/g, '[secret]');
const BEFORE = `# my bot
# old: s3cret-four
channels:
  telegram:
    token: s3cret-one   # from @BotFather
mcp:
  desk: { headers: { auth: "Bearer s3cret-two" } }
  list: [a, s3cret-three]
`;

describe('a text with hidden secrets', () => {
  it('[G18] regains the secrets that are still in the same place, and keeps everything else unchanged', () => {
    expect(restoreSecrets(hide(BEFORE), BEFORE, hide)).toEqual({ kind: 'text', text: BEFORE });
    const changed = `agent: { name: Polly }\n${hide(BEFORE).replace('my bot', 'ours')}`;
    expect(restoreSecrets(changed, BEFORE, hide)).toEqual({
      kind: 'text',
      text: `agent: { name: Polly }\n${BEFORE.replace('my bot', 'ours')}`,
    });
  });

  it('[G18] is refused with a position when a hidden secret has moved', () => {
    const moved = hide(BEFORE).replace('telegram:', 'discord:');
    expect(restoreSecrets(moved, BEFORE, hide)).toMatchObject({
      kind: 'refused',
      problems: [{ path: 'channels.discord.token' }],
    });
  });

  it('may contain a new secret', () => {
    const renewed = hide(BEFORE).replace('[secret]   #', 's3cret-new   #');
    expect(restoreSecrets(renewed, BEFORE, hide)).toEqual({
      kind: 'text',
      text: BEFORE.replace('s3cret-one', 's3cret-new'),
    });
  });
});
