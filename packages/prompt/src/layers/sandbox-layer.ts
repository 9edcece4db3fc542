import { absent, type Layer } from '../layer.ts';

/** Where commands run (G06). */
export const sandboxLayer: Layer = {
  id: 'sandbox',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'minimal'],
  render({ sandbox, reader }, { heading = '## Sandbox' }) {
    if (sandbox === undefined) return absent('no commands can be run');
    const { conversationId } = reader;
    return {
      text: `${heading}\nCommands run in ${sandbox.kind}. ${sandbox.text}`,
      source: sandbox.kind,
      audience: { kind: 'conversation', conversationId },
    };
  },
};
