export { drawDiscord } from './discord.ts';
export { escapeText } from './escape.ts';
export { drawSlack } from './slack.ts';
export { drawTelegram } from './telegram.ts';
export { drawWhatsApp } from './whatsapp.ts';
