import type { SkillSnapshot } from '@parley/workspace';
import { absent, type Layer } from '../layer.ts';
import { countOf } from './count-of.ts';

const RULES = `Skills are documents, not tools: you cannot call one. Look through their descriptions before you answer.
- One clearly applies: read it first, with \`load_skill\` or \`read\` at its location, then do as it says.
- Several could apply: read the most specific one.
- None clearly applies: read none.
- Never read more than one up front. Open what else lies in a skill's folder only when the skill asks for it.`;

/** The skills of the session (S04), and those whose whole text stands in the prompt (S06). */
export const skillsLayer: Layer = {
  id: 'skills',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'minimal'],
  render({ skills }, { heading = '## Skills' }) {
    if (skills === undefined) return absent('this turn knows no skills');
    const { catalogue, inline, names, left, audience } = skills;
    if (catalogue === '' && inline.length === 0) return absent('no skill is eligible');
    const outlined = catalogue === '' ? [] : [`${RULES}\n\n${catalogue}${noticeOf(skills)}`];
    const bodies = inline.map(({ name, body }) => `### Skill: ${name}\n${body.trim()}`);
    const text = `${heading}\n${[...outlined, ...bodies].join('\n\n')}`;
    const cut = left === 0 ? {} : { cut: { shown: names.length, total: names.length + left } };
    return { text, source: countOf(names.length, 'skill'), audience, ...cut };
  },
};

function noticeOf({ names, left }: SkillSnapshot): string {
  return left === 0 ? '' : `\n[Cut: ${names.length} of ${names.length + left} skills are listed.]`;
}
