export { campaignOf } from "../campaign.js";
