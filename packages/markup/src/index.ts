export type { RenderTarget } from '@parley/contracts';
export { MarkupError } from './markup-error.ts';
export { createPrefixRenderer, type PrefixRenderer, type ShownPrefix } from './prefix-renderer.ts';
export { render, renderInSteps } from './render.ts';
export { joinParts, type RenderedPart } from './render-part.ts';
