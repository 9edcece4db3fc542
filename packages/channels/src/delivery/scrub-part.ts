import { literal, type OutboundPart, type RenderedPart } from '@parley/core';
import { render } from '@parley/markup';

type Scrub = (text: string) => string;

/**
 * A part as it may reach a chat: without secrets (G18), no matter who wrote it: the model, a command, a notice,
 * the arguments of a call that waits for an approval. Files are sent as they are.
 */
export function scrubPart(part: OutboundPart, scrub: Scrub): OutboundPart {
  const { buttons } = part;
  const body = scrubBody(part, scrub);
  if (body === part.body && buttons === undefined) return part;
  return {
    ...part,
    body,
    ...(buttons !== undefined && {
      buttons: buttons.map((button) => ({ ...button, label: scrub(button.label) })),
    }),
  };
}

function scrubBody({ body, route }: OutboundPart, scrub: Scrub): RenderedPart {
  const plain = scrub(body.plain);
  // Markup may be in the middle of a secret; such a text is printed again, without markup.
  if (plain !== body.plain) return printed(plain, route.target) ?? { text: plain, plain };
  const text = scrub(body.text);
  return text === body.text ? body : { text, plain };
}

function printed(plain: string, target: OutboundPart['route']['target']): RenderedPart | undefined {
  const [first, ...more] = render(literal(plain), target);
  return more.length === 0 ? first : undefined;
}
