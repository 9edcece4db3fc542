export type { RenderTarget } from '@parley/contracts';
export { joinParts } from './join-parts.ts';
export { MarkupError } from './markup-error.ts';
export { createPrefixRenderer, render, renderInSteps } from './on-demand.ts';
export type { PrefixRenderer, ShownPrefix } from './prefix-renderer.ts';
export type { RenderedPart } from './render-part.ts';
