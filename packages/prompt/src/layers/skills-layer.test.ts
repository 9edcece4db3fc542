import { describe, expect, it } from 'vitest';
import { SKILLS } from '../testing/example-features.ts';
import { contextOf } from '../testing/example-turn.ts';
import { skillsLayer } from './abilities.ts';

const render = (skills = SKILLS) => skillsLayer.render(contextOf({ skills }), {});

describe('the skills of a session', () => {
  it('[S04] stand as their catalogue says, under the rules for using them', () => {
    const output = render();
    const text = 'text' in output ? output.text : '';
    expect(text).toContain(SKILLS.catalogue);
    for (const rule of [
      'documents, not tools',
      'One clearly applies: read it first',
      'the most specific one',
      'Never read more than one up front',
      'None clearly applies: read none',
    ]) {
      expect(text).toContain(rule);
    }
  });

  it('[S06] have their whole text in the prompt where the settings say inline', () => {
    expect(render()).toMatchObject({
      text: expect.stringContaining(
        '### Skill: opening-hours\nTuesday to Saturday, 10 to 19. Closed on Mondays.',
      ),
    });
  });

  it('[P10] say how many the limits left out', () => {
    expect(render({ ...SKILLS, left: 3 })).toMatchObject({
      text: expect.stringContaining('[Cut: 2 of 5 skills are listed.]'),
      cut: { shown: 2, total: 5 },
    });
  });

  it('[P02] say nothing where no skill is eligible', () => {
    expect(render({ ...SKILLS, catalogue: '', inline: [] })).toHaveProperty('absent');
  });
});
