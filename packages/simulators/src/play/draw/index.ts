export { renderDiscord } from './discord.ts';
export { escapeText } from './escape.ts';
export { renderMarkedLines } from './marked-lines.ts';
export { renderSlack } from './slack.ts';
export { renderTelegram } from './telegram.ts';
