import { CAPABILITIES } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMessage, IngressScene } from '../testing/ingress-scene.ts';
import type { SkillCommands } from './command.ts';
import { listSkillHelp } from './help.ts';

const OPEN = { name: 'plan_trip', summary: 'Plans a *trip*.' };
const SECRET = { name: 'ledger', summary: 'Keeps the books.' };
const skillCommands: SkillCommands = async (audience) =>
  audience === 'owner' ? [OPEN, SECRET] : [OPEN];

let scene: IngressScene;
beforeEach(async () => {
  scene = new IngressScene();
  await scene.open();
});
afterEach(() => scene.store.close());

const help = async (change: Parameters<typeof createMessage>[0], chatId: string) => {
  const message = createMessage({ text: '/help', ...change });
  await scene.ingressWith({}, { skillCommands })(message, CAPABILITIES);
  return (await scene.told(chatId)).join('\n');
};

describe('[S08] [F09] /help', () => {
  it('shows an owner in a direct chat every skill they can call', async () => {
    const told = await help({}, '42');
    expect(told).toContain('/plan_trip – Plans a *trip*.');
    expect(told).toContain('/ledger');
  });

  it('shows a group only the skills for everyone, even when the owner asks', async () => {
    const told = await help({ chat: { id: '-9', type: 'group' }, addressed: true }, '-9');
    expect(told).toContain('/plan_trip');
    expect(told).not.toContain('ledger');
  });

  it('lists thirty skills and states how many more there are', () => {
    const many = Array.from({ length: 40 }, (_, n) => ({
      name: `s${n}`,
      summary: 'x'.repeat(500),
    }));
    const lines = listSkillHelp(many);
    expect(lines).toHaveLength(32);
    expect(lines.at(-1)).toBe('- and 10 more');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(150);
  });

  it('does not mention skills when there are none', () => {
    expect(listSkillHelp([])).toEqual([]);
  });
});

describe('[S08] a skill’s command', () => {
  it('starts a turn like any text, and the turn decides who may see the skill', async () => {
    const receive = scene.ingressWith({}, { skillCommands });
    expect(await receive(createMessage({ text: '/plan_trip Rome' }), CAPABILITIES)).toMatchObject({
      kind: 'accepted',
    });
    expect(await scene.inbox()).toEqual(['/plan_trip Rome']);
  });
});
