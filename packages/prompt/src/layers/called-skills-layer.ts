import { absent, type Layer } from '../layer.ts';
import { narrowestAudience } from './narrowest-audience.ts';

/** Skills that somebody asked for by a command, in full: no need to read them first (S08). */
export const calledSkillsLayer: Layer = {
  id: 'called-skills',
  volatility: 'turn',
  // Not in the system prompt, which would cost the cache of everything behind it for one turn.
  placement: 'user',
  modes: ['full', 'minimal'],
  render({ calledSkills = [], reader }, { heading = '## Called Skills' }) {
    if (calledSkills.length === 0) return absent('nobody called a skill');
    const bodies = calledSkills.map(({ source, text }) => `### ${source}\n${text.trim()}`);
    return {
      text: `${heading}\nThe person asked for this by a command. Follow it now.\n\n${bodies.join('\n\n')}`,
      source: calledSkills.map(({ source }) => source).join(', '),
      audience: narrowestAudience(calledSkills, reader),
    };
  },
};
